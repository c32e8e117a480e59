"""The functions that `import sally` exports; `sally.__init__` names the module of each."""
