// Where the wire of a server is, as a URL. Pure.
import { CodedError } from '@ringwright/base/coded-error';

/**
 * Of an address IP:PORT, [IPV6]:PORT or NAME:PORT. Throws PEER_UNREACHABLE: a ring that was
 * imported may name servers that no URL can, such as [fe80::1%eth0].
 */
export function socketUrl(address: string): string {
  const url = `ws://${address}/v1/wire`;
  if (URL.canParse(url)) return url;
  throw new CodedError('PEER_UNREACHABLE', `${address} is no address that can be connected to`, {
    hint: 'ring-builder set-device gives it another: without a zone id, or a name',
    details: { address },
  });
}
