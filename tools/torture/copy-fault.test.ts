// A fault damages one copy once, at the chosen place, in any pieces, and nothing else.
import { seededRandom } from '@ringwright/base/random';
import { expect, test } from 'vitest';
import { CopyFault, type CopyFaultShape, copyFaultPlaces } from './copy-fault.ts';

const SEEDS = 60;
const FILE_BYTES = 9_000;
/** Start of a copy in a message: frame header, envelope of one answer, and a length of 16 bits. */
const inMessage = [0x82, 0x7e, 0x23, 0x40, 0xdd, 0, 0, 0, 1, 0x93, 1, 7, 0xc5, 0x23, 0x28];
/** Start of a copy that a helper process sends. */
const inStream = [...Buffer.from('RWc1'), 0, 0, 0, 0, 0, 0, 0x23, 0x28];
const heads = { message: Buffer.from(inMessage), stream: Buffer.from(inStream) };

function sentAfter(head: Buffer): Buffer {
  const file = Buffer.alloc(FILE_BYTES, 1);
  file.write('SQLite format 3\0');
  file.fill('.', 4_000, 4_060);
  return Buffer.concat([head, file]);
}

/** Sends bytes in pieces of this length. Returns what arrives, and whether the connection broke. */
function passed(fault: CopyFault, bytes: Buffer, piece: number) {
  const connection = {};
  const arrived: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += piece) {
    const { bytes: here, isCut } = fault.pass(connection, bytes.subarray(at, at + piece));
    arrived.push(here);
    if (isCut) return { arrived: Buffer.concat(arrived), isCut };
  }
  return { arrived: Buffer.concat(arrived), isCut: false };
}

function inPlace({ place }: CopyFaultShape, head: Buffer, at: number): boolean {
  const end = head.length + FILE_BYTES;
  if (place === 'head') return at < head.length;
  return place === 'trailer' ? at >= end - 16 && at < end : at >= head.length && at < end - 16;
}

const cases = copyFaultPlaces.flatMap((place) =>
  (['message', 'stream'] as const).map((form) => [place, form] as const),
);

test.each(cases)('a flip or a cut in the %s of a copy hits once, in a %s', (...[place, form]) => {
  const head = heads[form];
  for (let seed = 0; seed < SEEDS; seed += 1) {
    const random = seededRandom(seed);
    const piece = 1_000 + random.below(2 * FILE_BYTES);
    const sent = sentAfter(head);
    for (const how of ['flip', 'cut'] as const) {
      const shape = { how, place };
      const fault = new CopyFault(shape, random);
      const other = Buffer.from('something else');
      expect(fault.pass({}, other)).toEqual({ bytes: other, isCut: false });
      const { arrived, isCut } = passed(fault, sent, piece);
      expect(fault.isFired, `seed ${seed}`).toBe(true);
      expect(isCut).toBe(how === 'cut');
      const differs = sent.findIndex((byte, at) => byte !== arrived[at]);
      expect(inPlace(shape, head, differs), `seed ${seed}: ${how} at ${differs}`).toBe(true);
      const wrong = arrived.filter((byte, at) => byte !== sent[at]).length;
      expect(wrong).toBe(how === 'flip' ? 1 : 0);
      expect(passed(fault, sent, piece).arrived.equals(sent), 'a fault hits once').toBe(true);
    }
  }
});
