#!/usr/bin/env node
// Program: ring-server, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler that takes 18 MB until the process ends.
import { enableCompileCache } from 'node:module';

const { directory } = enableCompileCache();
// For the process beside it, which copies and audits files.
if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
await import('./main.ts');
