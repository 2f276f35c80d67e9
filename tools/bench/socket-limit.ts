// Program: answers the GETs and SETs of redis-benchmark and stores nothing. This measures the limit
// of Node's sockets on one thread.
//     node tools/bench/socket-limit.ts PORT VALUE_BYTES
import net from 'node:net';

const [port, valueBytes] = process.argv.slice(2).map(Number);
const stored = Buffer.from('+OK\r\n');
const found = Buffer.from(`$${valueBytes}\r\n${'x'.repeat(valueBytes ?? 0)}\r\n`);
const [star, get] = [Buffer.from('*'), Buffer.from('\r\nGET\r\n')];

/** Counts stars: each request begins with one, and redis-benchmark sends no others. */
function requestsIn(chunk: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(star); at >= 0; at = chunk.indexOf(star, at + 1)) count += 1;
  return count;
}

const server = net.createServer({ noDelay: true }, (socket) => {
  let answer = stored;
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    // A chunk may begin within a request; all requests of a connection are of one kind.
    if (chunk.includes(get)) answer = found;
    const count = requestsIn(chunk);
    if (count === 1) socket.write(answer);
    else if (count > 1) socket.write(Buffer.concat(Array<Buffer>(count).fill(answer)));
  });
});
server.listen(port, '127.0.0.1');
