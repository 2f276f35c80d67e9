// Trust documents, beacons and access documents on the wire: sent by the tool, relayed by peers.
// They are signed, so any sender is fine. Pure.
import { beaconBytesMax, trustFileBytesMax } from '@ringwright/base/limits';
import { accessDocumentBytesMax } from '@ringwright/base/limits-access';
import { z } from 'zod';
import { bytesField, ringIdField, versionField } from './fields.ts';
import { messageKind } from './message.ts';

/** One beacon per keyspace; a cluster with more rings sends several messages. */
const BEACONS_MAX = 64;
/** Clusters whose rings one server may serve. */
const TRUSTS_MAX = 16;

const rootsField = bytesField('roots', 1, trustFileBytesMax);
const beaconField = bytesField('beacon', 1, beaconBytesMax);
const accessField = z.nullable(bytesField('access', 1, accessDocumentBytesMax));

/** Offers trusted roots, beacons and the access document; answered with the roots then in force. */
export const trustOffer = messageKind({
  method: 'trust-offer',
  request: z.strictObject({
    roots: z.nullable(rootsField),
    beacons: z.array(beaconField).max(BEACONS_MAX),
    access: accessField,
  }),
  answer: z.strictObject({
    trusted: z
      .array(
        z.strictObject({
          cluster: z.string().max(128),
          version: versionField,
          epoch: versionField,
          id: ringIdField,
        }),
      )
      .max(TRUSTS_MAX),
  }),
});

/** The roots that the peer trusts, the beacons it holds, and the access document in force. */
export const trustFetch = messageKind({
  method: 'trust-fetch',
  request: z.strictObject({}),
  answer: z.strictObject({
    roots: z.array(rootsField).max(TRUSTS_MAX),
    beacons: z.array(beaconField).max(BEACONS_MAX),
    access: accessField,
  }),
});
