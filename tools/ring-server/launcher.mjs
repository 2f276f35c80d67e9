#!/usr/bin/env node
// Program: ring-server, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler that takes 18 MB until the process ends.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

// Not where Node would keep it: anybody may put programs for others into the folder for temporary
// files.
const caches = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
const { directory } = enableCompileCache(path.join(caches, 'ringwright'));
// For the process beside it, which copies and audits files.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
await import('./main.ts');
