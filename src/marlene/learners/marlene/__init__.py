"""BR-MARLENE, BRPW-MARLENE and Marlene."""
