"""What every floor needs: errors, atomic files, optional packages."""
