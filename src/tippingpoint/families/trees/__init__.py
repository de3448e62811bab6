"""Tree ensembles: the models of six libraries as one forest, and its best responses, bounded from both sides."""
