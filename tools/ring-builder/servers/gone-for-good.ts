// What to type to do without servers, as one line that a shell takes. Pure.
import type { Ring } from '@ringwright/ring/ring';

type MovingRing = Pick<Ring, 'keyspace' | 'moves'>;

/** More names than these say less. */
const DEVICES_NAMED_MAX = 8;

/** Words that take devices out of a ring: moves on their way to them have to be cancelled first. */
export function commandsWithout(
  { keyspace, moves }: MovingRing,
  devices: readonly number[],
): [first: string, ...string[]] {
  const joining = devices.filter((id) => moves.some(({ to }) => to === id));
  const remove = `remove ${keyspace} ${deviceNames(devices)}`;
  return joining.length === 0
    ? [remove]
    : [`moves ${keyspace} cancel ${deviceNames(joining)}`, remove];
}

/** The same to its end: committed and carried out. */
export function goneForGood(ring: MovingRing, devices: readonly number[]): string {
  const { keyspace } = ring;
  const commands = [
    ...commandsWithout(ring, devices),
    `commit ${keyspace} -m 'will not come back'`,
    `rollout ${keyspace}`,
  ];
  return asCommands(commands);
}

/** The same for people, with the other way there is. `devices`: one at least. */
export function ifGoneForGood(ring: MovingRing, devices: readonly number[]): string {
  const [first] = devices;
  const old = devices.length === 1 ? `d${first}` : 'OLD';
  return (
    `if it will not come back: ${goneForGood(ring, devices)}; ` +
    `where a new one takes its place: ${asCommands([`replace ${ring.keyspace} ${old} NEW`])}, ` +
    'instead of the remove'
  );
}

/** Where too few others are left for a remove. `devices`: one at least. */
function ifReplaced({ keyspace }: MovingRing, [first, ...rest]: readonly number[]): string {
  const old = rest.length === 0 ? `d${first}` : 'OLD';
  return `if it will not come back, a new one takes its place: ${asCommands([`replace ${keyspace} ${old} NEW`])}`;
}

/** The end of a sentence: `; if it will not come back: …`. */
export function withoutForGood(
  ring: Pick<Ring, 'keyspace' | 'devices' | 'moves' | 'replicas'>,
  away: readonly number[],
  removed: readonly number[] = [],
): string {
  const gone = away.filter((id) => !removed.includes(id));
  const others = ring.devices.filter((device) => device !== null && !away.includes(device.id));
  // Nobody wants to be told to remove every device there is.
  if (gone.length === 0 || others.length === 0) return '';
  if (gone.length > DEVICES_NAMED_MAX) return '; those that will not come back are removed';
  const left = others.filter((device) => device !== null && device.weight > 0).length;
  return `; ${left < ring.replicas ? ifReplaced(ring, gone) : ifGoneForGood(ring, gone)}`;
}

export function asCommands(commands: readonly string[]): string {
  return commands.map((one) => `ring-builder ${one}`).join(' && ');
}

export function deviceNames(devices: readonly number[]): string {
  return devices.map((id) => `d${id}`).join(' ');
}
