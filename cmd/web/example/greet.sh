#!/bin/bash
# Greets a person by name.
echo "Helo, $1"
