// What both programs do before they load anything else: refuse a Node that is too old, and have
// Node keep what it compiles. JavaScript: to read TypeScript, Node loads a compiler first, which
// takes 80 ms, and 18 MB until the process ends.
//
// The two lines at the top of a program's launcher are comments to Node, and to a shell the
// commands that start it: the Node that was brought along, if there is one. It takes the place of
// the shell, so that signals and exit codes are its own.
import module from 'node:module';
import { checkout } from './bundle.mjs';

// What follows must also be understood by the Node that is too old.
const NODE_MAJOR_NEEDED = 24;

/** Ends the process with 2 where Node is too old; returns the folder of compiled code, if any. */
export function prepareNode(program) {
  if (Number.parseInt(process.versions.node, 10) < NODE_MAJOR_NEEDED) refuse(program);
  // Not where Node would keep it: anybody may put programs for others into the folder for
  // temporary files.
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
