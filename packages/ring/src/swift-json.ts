// JSON inside a Swift file: read, or refused with a sentence. Pure.
import { swiftInvalid } from './swift-file-error.ts';

export function parseSwiftJson(bytes: Uint8Array, what: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const complaint = error instanceof Error ? error.message : String(error);
    throw swiftInvalid(what, `no JSON (${complaint.slice(0, 120)})`, 'JSON');
  }
}
