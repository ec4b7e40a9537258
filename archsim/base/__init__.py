"""The ground floor: places in files, errors, units, element types. Knows nothing of NPUs."""
