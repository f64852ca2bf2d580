"""What is looked at before a training, and what is mended."""
