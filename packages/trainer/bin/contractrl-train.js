#!/usr/bin/env node
import '../dist/contractrl-train-main.js';
