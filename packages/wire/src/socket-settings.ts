// What every WebSocket of ours is opened with, at both ends. Pure.
import { socketMessageBytesMax } from '@ringwright/base/limits';

/**
 * No compression (bombs), bounded messages. The end that connects masks its messages with a key of
 * zeros, so not at all. RFC 6455 wants random keys lest a web page has a browser send what a proxy
 * takes for a request; no browser connects here. Masking 64 KiB and taking it off again takes
 * longer than all that a device does to store them.
 */
export const socketSettings = {
  perMessageDeflate: false,
  maxPayload: socketMessageBytesMax,
  /** Every message of ours is one frame; each part of one takes far more than its bytes. */
  maxFragments: 1,
  generateMask: (key: Uint8Array): void => void key.fill(0),
} as const;
