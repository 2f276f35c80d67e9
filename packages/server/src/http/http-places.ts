// Places of HTTP connections: when all are taken, the oldest connection without a request under way
// is closed.
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { httpPerAddressMax, httpSpareConnections } from '@ringwright/base/limits-listeners';
import { httpConnectionsMax } from '@ringwright/base/limits-rings';
import { type Place, Places } from '../access/places.ts';

interface Seat {
  readonly place: Place;
  /** Requests under way. An upgraded connection counts as one until it closes. */
  requests: number;
}

const rules = {
  max: httpConnectionsMax - httpSpareConnections,
  reserved: 0,
  perAddressMax: httpPerAddressMax,
};

export function givePlaces(server: Server): void {
  const places = new Places(rules);
  const seats = new WeakMap<Socket, Seat>();
  server.on('connection', (socket: Socket) => {
    const place = places.enter({
      address: socket.remoteAddress ?? '',
      isKnown: () => false,
      isBusy: () => (seats.get(socket)?.requests ?? 0) > 0,
      end: () => void socket.destroy(),
    });
    if (place === null) {
      socket.destroy();
      return;
    }
    seats.set(socket, { place, requests: 0 });
    socket.once('close', () => place.leave());
  });
  server.on('request', ({ socket }, response) => {
    const seat = seats.get(socket);
    if (seat === undefined) return;
    seat.requests += 1;
    seat.place.used();
    response.once('close', () => {
      seat.requests -= 1;
    });
  });
  server.on('upgrade', ({ socket }) => {
    const seat = seats.get(socket);
    if (seat !== undefined) seat.requests += 1;
  });
}
