// A flag file that exists as long as the log has segments. It distinguishes a deleted log from one
// that was closed cleanly: neither has a segment.
import { CodedError } from '@ringwright/base/coded-error';
import { isRaised } from '@ringwright/node/durable-flag';
import { dataPaths } from '../file/data-paths.ts';

/** `segments`: the log's segments. Throws LOG_DAMAGED when the log was in use and has none. */
export function checkLogIsThere(root: string, segments: readonly number[]): void {
  const flag = dataPaths.logInUse(root);
  if (segments.length > 0 || !isRaised(flag)) return;
  const log = dataPaths.log(root);
  throw new CodedError('LOG_DAMAGED', `the log was in use, and ${log} has no segment of it`, {
    hint:
      'put its files back; else move the data directory aside and refill the device; ' +
      `where an older program has stopped in between, remove ${flag}`,
    details: { directory: log },
  });
}
