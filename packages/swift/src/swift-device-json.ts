// The device list of a Swift ring as JSON, weights as floats. Pure.
import { asciiJson, asciiObject, floatJson } from './ascii-json.ts';
import { swiftFieldsOf } from './swift-device.ts';
import type { SwiftRing } from './swift-ring.ts';

export function devicesJson(devices: SwiftRing['devices']): string {
  const texts = devices.map((device) => {
    if (device === null) return 'null';
    const fields = swiftFieldsOf(device);
    return asciiObject(
      fields.map(([name, value]) => [
        name,
        name === 'weight' ? floatJson(device.weight) : asciiJson(value),
      ]),
    );
  });
  return `[${texts.join(', ')}]`;
}
