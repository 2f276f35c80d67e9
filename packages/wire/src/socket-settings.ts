// Settings of all our WebSockets, at both ends. Pure.
import { socketMessageBytesMax } from '@ringwright/base/limits';

/**
 * No compression (bombs), bounded messages. The connecting end masks its messages with a key of
 * zeros, which changes nothing. RFC 6455 wants random keys so that a web page cannot make a browser
 * send bytes that a proxy takes for a request; no browser connects here. Masking and unmasking 64
 * KiB takes longer than all that a device does to store them.
 */
export const socketSettings = {
  perMessageDeflate: false,
  maxPayload: socketMessageBytesMax,
  /** Each of our messages is one frame; a fragment takes far more memory than its bytes. */
  maxFragments: 1,
  generateMask: (key: Uint8Array): void => void key.fill(0),
} as const;
