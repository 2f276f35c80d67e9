// Makes a checkout runnable: installs the packages of the lock file, brings Node 24 where it is
// missing, and bundles the programs.
// Plain JavaScript, because it runs on the machine's own Node (20 or newer) before every npm
// script.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_NEEDED = 24;
/** An install takes seconds; beyond ten minutes a holder of the lock is stuck, not slow. */
const LOCK_WAIT_MS_MAX = 600_000;
const LOCK_POLL_MS = 200;

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const modules = path.join(root, 'node_modules');
const stampFile = path.join(modules, '.installed');
const lockFile = path.join(root, '.install.lock');

/** The fields that an install depends on. Scripts and descriptions may change without a new one. */
const INSTALL_FIELDS = [
  'name',
  'workspaces',
  'bin',
  'dependencies',
  'devDependencies',
  'optionalDependencies',
];

function packageFiles() {
  const inner = ['packages', 'tools'].flatMap((folder) =>
    fs.readdirSync(path.join(root, folder)).map((name) => path.join(root, folder, name)),
  );
  return [root, ...inner.sort((a, b) => (a < b ? -1 : 1))]
    .map((folder) => path.join(folder, 'package.json'))
    .filter((file) => fs.existsSync(file));
}

function wantedStamp() {
  const hash = createHash('sha256');
  hash.update(`${process.platform}-${process.arch}\n`);
  for (const file of packageFiles()) {
    const content = JSON.parse(fs.readFileSync(file, 'utf8'));
    hash.update(JSON.stringify([path.relative(root, file), INSTALL_FIELDS.map((f) => content[f])]));
  }
  hash.update(fs.readFileSync(path.join(root, 'package-lock.json')));
  return hash.digest('hex');
}

function isFresh(stamp) {
  try {
    return fs.readFileSync(stampFile, 'utf8').trim() === stamp;
  } catch {
    return false;
  }
}

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function lockHolder() {
  try {
    return Number(fs.readFileSync(lockFile, 'utf8'));
  } catch {
    return null;
  }
}

/**
 * Moves a dead process's lock aside. If several try, rename lets one have it. If the lock turns out
 * to be live, it is restored.
 */
function clearDeadLock() {
  const movedLock = `${lockFile}.${process.pid}`;
  try {
    fs.renameSync(lockFile, movedLock);
    if (isAlive(Number(fs.readFileSync(movedLock, 'utf8')))) fs.linkSync(movedLock, lockFile);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  }
  fs.rmSync(movedLock, { force: true });
}

/** Creates the lock with its content in one step (link), so that a reader never sees it empty. */
function tryLock() {
  const ownLock = `${lockFile}.${process.pid}`;
  fs.writeFileSync(ownLock, String(process.pid));
  try {
    fs.linkSync(ownLock, lockFile);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    return false;
  } finally {
    fs.rmSync(ownLock, { force: true });
  }
}

function acquireLock() {
  const deadline = Date.now() + LOCK_WAIT_MS_MAX;
  while (!tryLock()) {
    const holder = lockHolder();
    if (holder !== null && !isAlive(holder)) clearDeadLock();
    else if (Date.now() > deadline) {
      fail(`process ${holder} holds ${lockFile} for over ten minutes; if it is stuck, end it.`);
    } else sleep(LOCK_POLL_MS);
  }
}

function fail(message) {
  process.stderr.write(`ringwright: ${message}\n`);
  process.exit(1);
}

/** Packages with native parts include them prebuilt, so no install script needs to run. */
function install() {
  process.stderr.write(
    'ringwright: installing what package-lock.json names (once, about 10 s) …\n',
  );
  const args = ['ci', '--ignore-scripts', '--include=dev', '--include=optional'];
  args.push('--engine-strict=false', '--loglevel=error', '--no-audit', '--no-fund');
  const npm = process.env.npm_execpath ?? '';
  const [command, first] = npm.endsWith('npm-cli.js') ? [process.execPath, [npm]] : ['npm', []];
  const done = spawnSync(command, [...first, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (done.status === 0) return;
  process.stderr.write(done.stdout ?? '');
  fail(`npm ci failed (${done.error?.message ?? `exit code ${done.status}`}); run it again.`);
}

/** Returns the Node that the user started npm with; null for the bundled one or an old one. */
function userNode() {
  const named = process.env.npm_node_execpath ?? process.execPath;
  const started = fs.realpathSync(fs.existsSync(named) ? named : process.execPath);
  if (started.startsWith(modules + path.sep)) return null;
  const agent = /\bnode\/v(\d+)\./.exec(process.env.npm_config_user_agent ?? '');
  const major = Number(agent?.[1] ?? process.versions.node.split('.')[0]);
  return major >= NODE_MAJOR_NEEDED ? started : null;
}

function bundledNode() {
  const file = path.join(modules, `node-${process.platform}-${process.arch}`, 'bin', 'node');
  if (!fs.existsSync(file)) return null;
  // On a system without glibc, the file exists but does not run.
  return spawnSync(file, ['--version']).status === 0 ? file : null;
}

/**
 * Links the Node to use into node_modules/.bin, which npm and the programs themselves put first in
 * PATH. So the link decides which Node runs them, whatever PATH they are started with later.
 */
function chooseNode() {
  const link = path.join(modules, '.bin', 'node');
  const userPath = userNode();
  if (isLinkTo(link, userPath)) return;
  const node = userPath ?? bundledNode();
  if (node === null) {
    fail(
      `Node ${NODE_MAJOR_NEEDED} or newer is needed, this is ${process.version}, and none can be` +
        ` brought along for ${process.platform}-${process.arch}: install it, then run this again.`,
    );
  }
  const temporaryLink = `${link}.${process.pid}`;
  try {
    fs.symlinkSync(userPath ?? path.relative(path.dirname(link), node), temporaryLink);
    fs.renameSync(temporaryLink, link);
  } catch (error) {
    // If nothing can be written, the user's own Node is in PATH.
    if (userPath === null) throw error;
  }
}

/** Whether the link leads to this file; for null: to a bundled Node, or one still new enough. */
function isLinkTo(link, file) {
  if (!fs.existsSync(link)) return false;
  const found = fs.realpathSync(link);
  if (file !== null) return found === file;
  if (found.startsWith(modules + path.sep)) return true;
  const { stdout } = spawnSync(found, ['--version'], { encoding: 'utf8' });
  return Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]) >= NODE_MAJOR_NEEDED;
}

/** Bundles the programs, which halves their start time. The bundler reports failures itself. */
function bundlePrograms() {
  const link = path.join(modules, '.bin', 'node');
  const node = fs.existsSync(link) ? link : process.execPath;
  spawnSync(node, [path.join(root, 'tools/house/bundle.mjs')], { stdio: 'inherit' });
}

const stamp = wantedStamp();
if (!isFresh(stamp)) {
  acquireLock();
  try {
    if (!isFresh(stamp)) {
      install();
      if (bundledNode() === null) fs.rmSync(path.join(modules, '.bin', 'node'), { force: true });
      fs.writeFileSync(stampFile, `${stamp}\n`);
    }
  } finally {
    fs.rmSync(lockFile, { force: true });
  }
}
chooseNode();
bundlePrograms();
