// Resolves device references: `d3`, `3`, `10.0.0.1:6200/sdb` or `r1z2-10.0.0.1:6200/sdb`; if it is
// unambiguous also `sdb`, `10.0.0.1:6200` or `10.0.0.1`. Pure.
import { CodedError } from '@ringwright/base/coded-error';
import { typedCharactersMax } from '@ringwright/base/limits-commands';
import { formatAddress } from '@ringwright/base/server-address';
import { shortened } from '@ringwright/base/shortened';
import type { BuilderDevice, BuilderState } from '@ringwright/builder/state/builder-state';
import { formatDevice } from '@ringwright/ring/device';
import { parseDevice } from '@ringwright/ring/parse-device';
import { selectorOf } from './device-selector.ts';

const IDS_SHOWN_MAX = 10;

/** Forms of words that name devices, for the help. */
export const devicesHelp =
  'd3, 10.0.0.1:6200/sdb, r1z2-10.0.0.1:6200/sdb; or many: r1z2, @10.0.0.1, name=sdb, weight<5';

/**
 * Returns the id of the one device that is meant. applyChanges checks whether it may change. Throws
 * DEVICE_UNKNOWN if no device or several match; DEVICE_INVALID.
 */
export function deviceIdOf(state: BuilderState, reference: string): number {
  const found = devicesMeant(state, reference);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.id;
  const { ring } = state;
  const listed = found.length > 0 ? found : state.devices.filter((device) => device !== null);
  const shown = listed
    .slice(0, IDS_SHOWN_MAX)
    .map((device) => (found.length > 0 ? nameDevice(device) : `d${device.id}`))
    .join(', ');
  const more = listed.length > IDS_SHOWN_MAX ? ` and ${listed.length - IDS_SHOWN_MAX} more` : '';
  const typed = shortened(reference, typedCharactersMax);
  const message =
    found.length > 0
      ? `${typed} matches ${found.length} devices of ring ${ring}`
      : `ring ${ring} has no device ${typed}`;
  throw new CodedError('DEVICE_UNKNOWN', message, {
    hint:
      found.length > 0
        ? `name one: ${shown}${more}; ${found[0]?.device === reference ? 'name=' : '@'}${reference} selects all`
        : listed.length === 0
          ? `ring-builder add ${ring} r1z1-10.0.0.1:6200/sdb 100; it has no devices yet`
          : `ring-builder status ${ring} lists them; there are ${shown}${more}`,
    details: { ring, device: typed, devices: listed.map((device) => device.id) },
  });
}

/**
 * Returns the ids of all devices that the words mean, each once. A word is a selector or names one
 * device. A bare name of several devices is refused; `name=sdb` selects all of them. Throws
 * DEVICE_UNKNOWN, DEVICE_INVALID.
 */
export function deviceIdsOf(state: BuilderState, words: readonly string[]): number[] {
  return [...new Set(words.flatMap((word) => idsOf(state, word)))];
}

function idsOf(state: BuilderState, word: string): number[] {
  const selects = isName(state, word) ? null : selectorOf(word);
  if (selects === null) return [deviceIdOf(state, word)];
  const found = selectedDevices(state, selects);
  if (found.length > 0) return found.map(({ id }) => id);
  const { ring } = state;
  throw new CodedError('DEVICE_UNKNOWN', `ring ${ring} has no device that matches ${word}`, {
    hint: `ring-builder search ${ring} all lists them`,
    details: { ring, selector: word },
  });
}

export function selectedDevices(
  { devices }: Pick<BuilderState, 'devices'>,
  selects: (device: BuilderDevice) => boolean,
): BuilderDevice[] {
  return devices.flatMap((device) => (device !== null && selects(device) ? [device] : []));
}

/**
 * Returns the devices for a word of `search`: those of a selector, or all that a bare part matches.
 */
export function searched(state: BuilderState, word: string): BuilderDevice[] {
  const selects = isName(state, word) ? null : selectorOf(word);
  return selects === null ? devicesMeant(state, word) : selectedDevices(state, selects);
}

/**
 * Whether the word is an id, a device in full, or exactly a device's name, even if it could also be
 * a selector.
 */
function isName({ devices }: BuilderState, word: string): boolean {
  if (/^d\d+$/.test(word) || /^r\d+z\d+-/.test(word)) return true;
  return devices.some((device) => device?.device === word);
}

/** Matches by id, by Swift's form, by `IP:PORT/NAME`, or by a part of it. */
function devicesMeant({ devices }: BuilderState, reference: string): BuilderDevice[] {
  const existing = devices.filter((device) => device !== null);
  const id = /^d?(\d{1,9})$/.exec(reference)?.[1];
  if (id !== undefined) return existing.filter((device) => device.id === Number(id));
  if (/^r\d+z\d+-/.test(reference)) {
    const parsed = parseDevice(reference);
    const asTyped = ({
      replication,
      ...device
    }: BuilderDevice): Parameters<typeof formatDevice>[0] =>
      parsed.replication && replication ? { ...device, replication } : device;
    return existing.filter((device) => formatDevice(asTyped(device)) === formatDevice(parsed));
  }
  const typed = reference.replace(/^\[[^%\]]*/, (ipv6) => ipv6.toLowerCase());
  return existing.filter((device) => {
    const address = formatAddress(device);
    return [`${address}/${device.device}`, address, device.ip, device.device].includes(typed);
  });
}

/** Returns `d3 r1z2-10.0.0.1:6200/sdb`. */
export function nameDevice(device: Parameters<typeof formatDevice>[0] & { id: number }): string {
  return `d${device.id} ${formatDevice(device)}`;
}
