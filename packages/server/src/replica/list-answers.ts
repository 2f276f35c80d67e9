// This device's answer to a listing: keys of a partition with their stamps, without values.
import { listTurnBytesMax, listTurnRecordsMax } from '@ringwright/base/limits';
import { isGone } from '@ringwright/partition/file/record';
import type { Caller } from '@ringwright/wire/call-channel';
import type { keysAfter } from '@ringwright/wire/listing';
import type { AnswerOf, RequestOf } from '@ringwright/wire/message';
import { filling, notResponsible, passFence, type ReplicaPorts } from './replica.ts';

/**
 * A page of keys in the order of their bytes; only a device that serves reads may answer. Ends
 * early after large values: the store reads them to compare their hashes.
 */
export async function answerKeys(
  ports: ReplicaPorts,
  request: RequestOf<typeof keysAfter>,
  caller: Caller,
): Promise<AnswerOf<typeof keysAfter>> {
  const { active, duty } = await passFence(ports, request, caller);
  if (duty.kind !== 'SERVE') throw notResponsible(active, request.partition);
  const { keyspace, partition, limit, nowMs } = request;
  if (ports.store.marks(keyspace, partition)?.state !== 'ready') throw filling(partition);
  const keys: AnswerOf<typeof keysAfter>['keys'] = [];
  let after = request.after;
  for (let bytes = 0; keys.length < limit && bytes < listTurnBytesMax; ) {
    const wanted = Math.min(listTurnRecordsMax, limit - keys.length);
    const records = ports.store.scan(keyspace, partition, after, wanted);
    for (const record of records) {
      const { key, value, ms, tie } = record;
      keys.push([key, ms, tie, isGone(record, nowMs)]);
      bytes += value?.length ?? 0;
      after = key;
    }
    if (records.length < wanted) return { keys, more: false };
  }
  return { keys, more: true };
}
