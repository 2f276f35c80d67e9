// JSON inside a Swift file: parsed, or refused with a sentence. Pure.
import { foreignDevicesBytesMax } from '@ringwright/base/limits';
import { parseJson } from '@ringwright/base/parse-json';
import { messageOf } from '@ringwright/base/thrown';
import { swiftBroken, swiftTooLarge } from './swift-file-error.ts';

export function parseSwiftJson(bytes: Uint8Array, what: string): unknown {
  if (bytes.length > foreignDevicesBytesMax) {
    throw swiftTooLarge(`bytes of the ${what}`, bytes.length, foreignDevicesBytesMax);
  }
  return parseJson(bytes, (error) =>
    swiftBroken(`the ${what}`, `is not JSON: ${messageOf(error)}`),
  );
}
