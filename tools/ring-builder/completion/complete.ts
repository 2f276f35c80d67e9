// Completes a command line for the scripts of completion/scripts.ts. It reads ring folders and asks
// no server. It is silent about files that it cannot read.
import { printable } from '@ringwright/base/printable';
import { tierKinds, tierNamesById } from '@ringwright/builder/state/tier-name';
import { listRings } from '@ringwright/repository/folder/list-rings';
import { makesVersion } from '@ringwright/repository/folder/log-entry';
import { readLog } from '@ringwright/repository/folder/read-log';
import { openRing } from '@ringwright/repository/open-ring';
import { formatDevice } from '@ringwright/ring/device';
import type { Options } from 'yargs';
import type { CommandEntry } from '../cli/command.ts';
import {
  type Candidate,
  choiceCandidates,
  joinBroken,
  optionCandidates,
  positionalAt,
  positionalsOf,
  readArgs,
  unquoted,
} from './candidates.ts';

interface Known {
  readonly commands: readonly CommandEntry[];
  /** Options of every command. */
  readonly options: Readonly<Record<string, Options>>;
  readonly defaultRings: string;
}

/** Positionals that name devices of the ring. With `add` they name new devices. */
const devicePlaces = new Set(['device', 'devices', 'old', 'pairs', 'what']);
const versionPlaces = new Set(['version', 'from', 'to']);
/** Only the newest versions are offered. */
const VERSIONS_MAX = 50;
const deviceOptions = new Set(['on', 'off', 'device']);

/**
 * `args`: the shell, then the words after the program up to the cursor. Returns one completion per
 * line.
 */
export async function complete(args: readonly string[], known: Known): Promise<string> {
  const [shell = '', ...typed] = args;
  const found = await candidates(
    shell === 'bash' ? joinBroken(typed).map(unquoted) : typed,
    known,
  ).catch(() => []);
  return found.map((one) => lineOf(one, shell)).join('\n');
}

async function candidates(args: readonly string[], known: Known): Promise<Candidate[]> {
  const [name = '', ...rest] = args;
  const entry = known.commands.find((one) => one.name === name);
  if (rest.length === 0 || entry === undefined) {
    const isFirst = args.length <= 1;
    const all = known.commands.map((one) => ({ word: one.name, about: one.summary }));
    return isFirst ? beginning([...all, ...optionCandidates(known.options)], name) : [];
  }
  return ofCommand(entry, rest, known);
}

async function ofCommand(
  entry: CommandEntry,
  args: readonly string[],
  known: Known,
): Promise<Candidate[]> {
  const { command } = await entry.load();
  const options = { ...known.options, ...command.options };
  const read = readArgs(args, options);
  const { option, current, positionals } = read;
  const rings = read.optionValues.get('rings') ?? known.defaultRings;
  const ring = positionals[positionalsOf(entry.usage).indexOf('ring')] ?? '';
  if (option !== null) {
    const isDevice = deviceOptions.has(option) && ring !== '' && !isAdding(entry);
    const values = isDevice
      ? await deviceCandidates(rings, ring)
      : choiceCandidates(options[option]?.choices);
    return beginning(values, current);
  }
  if (current.startsWith('-')) return beginning(optionCandidates(options), current);
  const positional = positionalAt(entry.usage, positionals.length);
  if (positional === null) return [];
  const named = await namedCandidates(positional, { entry, rings, ring, positionals });
  return beginning(named ?? choiceCandidates(command.positionals?.[positional]?.choices), current);
}

/** Completes names found in the rings folder; null if this place takes none of them. */
async function namedCandidates(
  positional: string,
  typed: {
    readonly entry: CommandEntry;
    readonly rings: string;
    readonly ring: string;
    readonly positionals: readonly string[];
  },
): Promise<Candidate[] | null> {
  const { entry, rings, ring, positionals } = typed;
  if (positional === 'ring') return ringCandidates(rings, entry);
  if (positional === 'components') {
    const others = await ringCandidates(rings, entry);
    return others.filter(({ word }) => !positionals.includes(word));
  }
  if (versionPlaces.has(positional)) return versionCandidates(rings, ring);
  const tier = positionals[positionalsOf(entry.usage).indexOf('tier')];
  if (positional === 'names' && tier !== undefined) return domainCandidates(rings, ring, tier);
  return devicePlaces.has(positional) && !isAdding(entry) ? deviceCandidates(rings, ring) : null;
}

function isAdding({ name }: CommandEntry): boolean {
  return name === 'add';
}

async function ringCandidates(rings: string, { name }: CommandEntry): Promise<Candidate[]> {
  // These commands create a ring, whose name does not exist yet.
  if (/^(create|import|import-swift|restore)$/.test(name)) return [];
  return (await listRings(rings)).map((word) => ({ word, about: 'ring' }));
}

async function deviceCandidates(rings: string, ring: string): Promise<Candidate[]> {
  const { state } = await openRing(rings, ring);
  return state.devices.flatMap((device) =>
    device === null ? [] : [{ word: `d${device.id}`, about: formatDevice(device) }],
  );
}

async function versionCandidates(rings: string, ring: string): Promise<Candidate[]> {
  const versionEntries = (await readLog(rings, ring)).filter(makesVersion).toReversed();
  return versionEntries.slice(0, VERSIONS_MAX).map(({ version, message, user }) => {
    return { word: `${version}`, about: printable(`${user}: ${message}`) };
  });
}

/** Returns the names of regions, zones or servers, as `drill` takes them. */
async function domainCandidates(rings: string, ring: string, tier: string): Promise<Candidate[]> {
  if (tier === 'device') return deviceCandidates(rings, ring);
  const kind = tierKinds.find((one) => one === tier);
  if (kind === undefined) return [];
  const { state } = await openRing(rings, ring);
  const names = new Set(tierNamesById(state.devices, kind));
  // A colon ends a word in bash, and starts the description in zsh and fish.
  return [...names].sort().flatMap((word) => (/^$|:/.test(word) ? [] : [{ word, about: tier }]));
}

function beginning(all: readonly Candidate[], typed: string): Candidate[] {
  return all.filter(({ word }) => word.startsWith(typed) && (typed !== '' || word[0] !== '-'));
}

/** Formats a candidate for the scripts: bash shows no descriptions. No word has a colon. */
function lineOf({ word, about }: Candidate, shell: string): string {
  return about === '' || shell === 'bash' ? word : `${word}:${about}`;
}
