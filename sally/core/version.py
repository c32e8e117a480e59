"""The distribution name and version."""

VERSION = "0.1.0"
DISTRIBUTION = "sally-lab"  # on the package index `sally` is another project
