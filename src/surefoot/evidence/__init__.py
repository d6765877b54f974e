"""Evidence for what a stage found: findings and certificates, made once and checked once."""
