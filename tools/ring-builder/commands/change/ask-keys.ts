// Asks servers for the keys of their devices. Nothing vouches for these keys: the operator must
// compare the fingerprints.
import { CodedError, resultOrError } from '@ringwright/base/coded-error';
import { formatAddress } from '@ringwright/base/server-address';
import { askDeviceKey } from '@ringwright/node/link/prove-server';
import type { Device } from '@ringwright/ring/device';
import { keyIdOf } from '@ringwright/ring/trust/public-key';
import type { Answer } from '../../cli/command.ts';
import { connectTimeoutMs, fanOut } from '../../servers/server-connection.ts';

/** Returns each device with the key that its server shows now. Throws PEER_UNREACHABLE. */
export function withAskedKeys<One extends Pick<Device, 'ip' | 'port'>>(
  devices: readonly One[],
): Promise<(One & { readonly key: string })[]> {
  return fanOut(devices, async (device) => {
    const key = await resultOrError(askDeviceKey(formatAddress(device), connectTimeoutMs));
    if (key instanceof CodedError) throw notShown(key);
    return { ...device, key };
  });
}

function notShown({ code, message, details }: CodedError): CodedError {
  const hint =
    '--ask-key needs a running ring-server: start it and repeat this command; or omit ' +
    '--ask-key and pass with --key the key that the server logs at its start';
  return new CodedError(code, message, { hint, details });
}

/** Adds the fingerprints of the staged keys, to compare with those that the servers log. */
export function withFingerprints(
  answer: Answer,
  devices: readonly Pick<Device, 'ip' | 'port' | 'key'>[],
): Answer {
  const lines = devices.flatMap((device) => {
    const { key } = device;
    return key === undefined ? [] : [`${formatAddress(device)} has key ${keyIdOf(key)}`];
  });
  if (lines.length === 0) return answer;
  const compare = 'compare the keys with the fingerprint that each server logs at its start';
  return { ...answer, lines: [...answer.lines, ...lines, compare] };
}

/** Throws USAGE if a device without a key would join a ring whose devices have keys. */
export function requireKeys(
  ring: string,
  present: readonly (Pick<Device, 'key'> | null)[],
  added: readonly Pick<Device, 'key'>[],
): void {
  const isKeyed = present.some((device) => device?.key !== undefined);
  if (!isKeyed || added.every(({ key }) => key !== undefined)) return;
  throw new CodedError('USAGE', `the devices of ${ring} have keys: a new device needs one too`, {
    hint: 'use --ask-key if its server is running, or pass the key with --key',
    details: { ring },
  });
}
