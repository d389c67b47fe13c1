"""Reading text: words, numbers, JSON and SVMLight, from bytes and code points to arrays."""
