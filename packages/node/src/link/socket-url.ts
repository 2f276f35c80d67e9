// The URL of a server's WebSocket. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/**
 * The wire URL of a server with the address IP:PORT, [IPV6]:PORT or NAME:PORT. Throws
 * PEER_UNREACHABLE for an address that no URL can express, which an imported ring may have:
 * [fe80::1%eth0].
 */
export function socketUrl(address: string): string {
  const url = `ws://${address}/v1/wire`;
  if (URL.canParse(url)) return url;
  throw new CodedError(
    'PEER_UNREACHABLE',
    `${address} is not an address that can be connected to`,
    {
      hint: 'ring-builder set-device changes it: use an address without a zone id, or a name',
      details: { address },
    },
  );
}
