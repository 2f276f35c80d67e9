// Tests that any unambiguous part of a device's name selects the device, that status shows holds,
// and that a revert claims only what it reached.
import { expect, test } from 'vitest';
import { ringBuilderHere } from '../../../test/support/ring-builder-here.ts';

async function threeDevices() {
  const tool = await ringBuilderHere({ yes: true });
  await tool.json('create kv --partitions 8 --replicas 2');
  await tool.json(
    'add kv r1z1-10.0.0.1:6200/sda 1 r1z2-10.0.0.2:6200/sda 1 r1z3-[fd00::3]:6203/sdc 1',
  );
  await tool.json('commit kv -m first');
  return tool;
}

test('a name or an address selects one device, or is refused as unknown or ambiguous', async () => {
  const tool = await threeDevices();
  const same = ['d2', '2', 'sdc', '[FD00::3]:6203/sdc', '[fd00::3]:6203', 'fd00::3'];
  for (const [at, name] of [...same, 'r1z3-[fd00::3]:6203/sdc'].entries()) {
    expect(await tool.json(`set-weight kv ${name} ${at + 2}`), name).toMatchObject({
      staged: [{ id: 2 }],
    });
  }
  await expect(tool.answer('remove kv sda')).rejects.toMatchObject({
    code: 'DEVICE_UNKNOWN',
    message: 'sda matches 2 devices of ring kv',
    hint: 'name one: d0 r1z1-10.0.0.1:6200/sda, d1 r1z2-10.0.0.2:6200/sda; name=sda selects all',
  });
  for (const name of ['sd3', '10.0.0.9', 'd9', '10.0.0.1:6201/sda']) {
    await expect(tool.answer(`remove kv ${name}`)).rejects.toMatchObject({
      code: 'DEVICE_UNKNOWN',
      message: `ring kv has no device ${name}`,
    });
  }
});

test('status shows that a device is in maintenance', async () => {
  const tool = await threeDevices();
  await tool.json('maintenance kv sdc');
  expect(await tool.text('status kv')).toMatch(/^d2 .* active -> maintenance \(staged\)$/m);
  await tool.json('commit kv -m held');
  expect(await tool.text('status kv')).toMatch(/^d2 .* maintenance$/m);
});

test('--off ends a ramp without a weight, and a ramp needs a weight that differs', async () => {
  const tool = await threeDevices();
  await tool.json('ramp kv d2 5');
  expect(await tool.json('ramp kv d2 --off')).toMatchObject({ staged: [{ id: 2, ramp: null }] });
  await expect(tool.answer('ramp kv d2')).rejects.toMatchObject({ code: 'USAGE' });
  await expect(tool.answer('ramp kv d2 1')).rejects.toMatchObject({ code: 'USAGE' });
});

test('a revert that cannot reach the old placement does not claim that it did', async () => {
  const tool = await threeDevices();
  await tool.json('set kv --replicas 1');
  await tool.json('commit kv -m one --override test');
  const reverted = await tool.text('revert kv 1');
  expect(reverted).not.toContain('are those of version 1');
  expect(reverted).toContain('REPLICAS_STAY');
});
