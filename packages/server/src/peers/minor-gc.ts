// Has the youngest garbage of this process collected while long messages come in.
import { minorGcBytesMax } from '@ringwright/base/limits-copies';
import { collectGarbage } from '@ringwright/node/v8/collect-garbage';

let bytesSince = 0;

/**
 * To be told of each long message. What the socket read of it, 64 KiB at a time, was copied and is
 * garbage; but V8 counts its few objects when it decides to collect the young, which takes a
 * millisecond, and its bytes when it decides to mark the whole heap. That took half of the time of
 * a copied file.
 */
export function longMessageCame(bytes: number): void {
  bytesSince += bytes;
  if (bytesSince < minorGcBytesMax) return;
  bytesSince = 0;
  collectGarbage('minor');
}
