"""Study design: power, registration, reliability, audits."""
