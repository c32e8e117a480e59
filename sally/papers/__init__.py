"""One folder per paper: study, published figures, tables, page layout, plots and importer."""
