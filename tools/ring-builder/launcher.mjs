#!/usr/bin/env node
// Program: ring-builder, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler first, which takes 80 ms.
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

// Not where Node would keep it: anybody may put programs for others into the folder for temporary
// files.
const caches = process.env.XDG_CACHE_HOME ?? path.join(homedir(), '.cache');
enableCompileCache(path.join(caches, 'ringwright'));
await import('./main.ts');
