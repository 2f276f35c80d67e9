#!/usr/bin/env node
// Program: ring-server, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler that takes 18 MB until the process ends.
import { enableCompileCache } from 'node:module';

// Not where Node would keep it: anybody may put programs for others into the folder for temporary
// files.
const { HOME, XDG_CACHE_HOME } = process.env;
const caches = [XDG_CACHE_HOME, `${HOME}/.cache`].find((folder) => folder?.startsWith('/'));
if (caches !== undefined) {
  const { directory } = enableCompileCache(`${caches}/ringwright`);
  // For the process beside it, which copies and audits files.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE ??= directory;
}
await import('./main.ts');
