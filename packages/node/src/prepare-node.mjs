// What both programs do before they load anything else: refuse a Node that is too old, and make
// Node cache compiled code. In JavaScript, because for TypeScript Node first loads a compiler,
// which takes 80 ms, and 18 MB until the process ends.
//
// The two lines at the top of a program's launcher are comments to Node. To a shell they are the
// commands that start the program, with the Node that bootstrap.mjs has installed, if any. That
// Node replaces the shell, so that signals and exit codes are its own.
import module from 'node:module';
import { checkout } from './bundle.mjs';

// The code below must also be understood by a Node that is too old.
const NODE_MAJOR_NEEDED = 24;

/** Exits with 2 if Node is too old. Returns the folder of compiled code, if any. */
export function prepareNode(program) {
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_NEEDED) refuse(program);
  // Not Node's default folder, which is for temporary files: anybody may put programs for others
  // there.
  const { HOME, XDG_CACHE_HOME } = process.env;
  const caches = [XDG_CACHE_HOME, `${HOME}/.cache`].find((folder) => folder?.startsWith('/'));
  if (caches === undefined) return undefined;
  return module.enableCompileCache(`${caches}/ringwright`).directory;
}

function refuse(program) {
  process.stderr.write(
    `${program}: Node ${NODE_MAJOR_NEEDED} or newer is needed, ` +
      `this is ${process.version} [USAGE]\n` +
      `node ${checkout}tools/house/bootstrap.mjs brings one along, and\n` +
      `${checkout}node_modules/.bin/${program}, started without naming a Node, takes it\n`,
  );
  process.exit(2);
}
