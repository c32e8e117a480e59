"""Under which name and version this is published."""

VERSION = "0.1.0"
DISTRIBUTION = "sally-lab"  # on the package index `sally` is another project
