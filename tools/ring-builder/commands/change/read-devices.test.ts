// Tests how devices are parsed from CSV, JSON and command-line words.
import { expect, test } from 'vitest';
import { devicesOfFile, devicesOfPairs } from './read-devices.ts';

const head = 'region,zone,ip,port,device,weight,meta';
const device = { region: 1, zone: 2, ip: '10.0.0.1', port: 6200, device: 'sdb', weight: 100 };

test('CSV may have quotes, CRLF, a byte order mark, blank lines and any column order', () => {
  const csv =
    '\ufeffzone,region,ip,port,device,weight,meta\r\n2,1,10.0.0.1,6200,sdb,100,"a ""b"", c"\r\n\r\n';
  expect(devicesOfFile(csv, 'x')).toEqual([{ ...device, meta: 'a "b", c' }]);
});

test('CSV may have a replication address, which needs a port', () => {
  const line = '1,2,10.0.0.1,6200,sdb,100,,';
  const csv = `${head},replication\n${line}10.1.0.1:6300\n${line}`;
  const replication = { ip: '10.1.0.1', port: 6300 };
  const plain = { ...device, meta: '' };
  expect(devicesOfFile(csv, 'x')).toEqual([{ ...plain, replication }, plain]);
  expect(() => devicesOfFile(csv.replace(':6300', ''), 'x')).toThrow(
    'x, line 2: replication "10.1.0.1": expected IP:PORT',
  );
});

test('a JSON device without meta gets an empty one', () => {
  expect(devicesOfFile(JSON.stringify([device]), 'x')).toEqual([{ ...device, meta: '' }]);
});

test.for([
  ['[{"region":1}]', 'x, element 1 has an invalid'],
  ['[{]', 'x is not JSON'],
  ['[]', 'x holds no devices'],
  [head, 'x holds no devices'],
  [`${head}\n1,2,10.0.0.1`, 'line 2 has 3 cells, expected 7'],
  [`${head}\n1,2,10.0.0.1,0,sdb,1,`, 'x, line 2: port 0 must be a whole number from 1 to 65535'],
  ['colour\nred', 'line 1 has column "colour"'],
  [JSON.stringify([{ ...device, colour: 'red' }]), 'x, element 1 has an invalid'],
] as const)('%s is refused with the place of the error', ([content, message]) => {
  expect(() => devicesOfFile(content, 'x')).toThrow(message);
});

test('every device on the command line needs a decimal weight', () => {
  expect(devicesOfPairs(['r1z2-10.0.0.1:6200/sdb', '100'])).toEqual([{ ...device, meta: '' }]);
  expect(() => devicesOfPairs(['r1z2-10.0.0.1:6200/sdb'])).toThrow('has no weight');
  expect(() => devicesOfPairs(['r1z2-10.0.0.1:6200/sdb', '0x10'])).toThrow(
    'must be a number from 0',
  );
});

test('lines and nesting beyond all measure are refused, and end no program', () => {
  const long = `${head}\n1,2,10.0.0.1,6200,sdb,100,"${'a'.repeat(10_000_000)}"`;
  expect(() => devicesOfFile(long, 'x')).toThrow('x, line 2 has 10000028 characters, at most');
  const deep = `[{"region":${'['.repeat(5_000)}${']'.repeat(5_000)}}]`;
  expect(() => devicesOfFile(deep, 'x')).toThrow('x is not JSON: nested deeper than 64');
});
