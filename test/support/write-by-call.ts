// Implements the writes of a device caller by its calls, for callers that a test creates.
import type { DeviceCaller } from '@ringwright/server/peers/device-caller';
import { recordWrite } from '@ringwright/wire/records';

export function writeByCall(call: DeviceCaller['call']): DeviceCaller['write'] {
  return (to, request, onResult) => {
    Promise.resolve(call(to, recordWrite, request)).then(
      (answer) => onResult(to.device, answer, null),
      (error: unknown) => onResult(to.device, null, error),
    );
  };
}
