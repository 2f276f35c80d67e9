#!/usr/bin/env node
// Program: ring-builder, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler first, which takes 80 ms.
import { enableCompileCache } from 'node:module';

// Not where Node would keep it: anybody may put programs for others into the folder for temporary
// files.
const { HOME, XDG_CACHE_HOME } = process.env;
const caches = [XDG_CACHE_HOME, `${HOME}/.cache`].find((folder) => folder?.startsWith('/'));
if (caches !== undefined) enableCompileCache(`${caches}/ringwright`);
await import('./main.ts');
