//! Readers of model files.
