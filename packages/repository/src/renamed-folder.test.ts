// A folder of rings where the folder of one ring was renamed, or copied, by hand.
import { cp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { nextVersion, scratchRings, stageDevices } from '../../../test/support/small-repository.ts';
import { commitVersion } from './commit-version.ts';
import { readVersion } from './folder/read-version.ts';
import { openRing } from './open-ring.ts';
import { verifyRepository } from './verify/verify-repository.ts';

test.each([true, false])(
  'a renamed folder is refused, with the way back (committed: %s)',
  async (committed) => {
    const rings = await scratchRings();
    await stageDevices(rings);
    if (committed) await commitVersion(rings, await nextVersion(rings));
    await rename(join(rings, 'cities'), join(rings, 'towns'));

    const refusal = {
      code: 'RING_FOREIGN',
      message: `${join(rings, 'towns')} contains ring cities, but a ring's folder has the ring's name`,
      hint: expect.stringContaining(`mv ${join(rings, 'towns')} ${join(rings, 'cities')};`),
    };
    await expect(openRing(rings, 'towns')).rejects.toMatchObject(refusal);
    await expect(verifyRepository(rings, 'towns', null)).rejects.toMatchObject(refusal);
  },
);

test('a version that is read from the copy of a folder is refused', async () => {
  const rings = await scratchRings();
  await stageDevices(rings);
  await commitVersion(rings, await nextVersion(rings));
  await cp(join(rings, 'cities'), join(rings, 'towns'), { recursive: true });

  await expect(readVersion(rings, 'towns', 'head')).rejects.toMatchObject({ code: 'RING_FOREIGN' });
  await expect(readVersion(rings, 'cities', 'head')).resolves.toMatchObject({
    ring: { keyspace: 'cities', version: 1 },
  });
});
