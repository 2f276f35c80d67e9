#!/bin/sh
//bin/sh -c :; bin="$(dirname "$(readlink -f "$0")")/../../node_modules/.bin"
//bin/sh -c :; exec env PATH="$bin:$PATH" node "$0" "$@"
// Program: ring-builder, from its second start on as Node has compiled it before. JavaScript: to
// read TypeScript, Node loads a compiler first, which takes 80 ms.
//
// The two lines at the top are comments to Node, and to a shell the commands that start it: the
// Node that was brought along, if there is one. It takes the place of the shell, so that signals
// and exit codes are its own.
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// What follows must also be understood by the Node that is too old.
const NODE_MAJOR_NEEDED = 24;
if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_NEEDED) {
  const root = fileURLToPath(import.meta.url).replace(/tools\/[^/]+\/[^/]+$/, '');
  process.stderr.write(
    `ring-builder: Node ${NODE_MAJOR_NEEDED} or newer is needed, ` +
      `this is ${process.version} [USAGE]\n` +
      `node ${root}tools/house/bootstrap.mjs brings one along, and\n` +
      `${root}node_modules/.bin/ring-builder, started without naming a Node, takes it\n`,
  );
  process.exit(2);
}

// Not where Node would keep it: anybody may put programs for others into the folder for temporary
// files.
const { HOME, XDG_CACHE_HOME } = process.env;
const caches = [XDG_CACHE_HOME, `${HOME}/.cache`].find((folder) => folder?.startsWith('/'));
if (caches !== undefined) module.enableCompileCache(`${caches}/ringwright`);
await import('./main.ts');
