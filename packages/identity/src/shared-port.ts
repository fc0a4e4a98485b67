/**
 * One port for HTTP and HTTPS. The first byte of a client tells them apart: a TLS handshake begins with 0x16, which no HTTP method
 * does.
 */
import { constants } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type net from 'node:net';
import type { SecureContextOptions } from 'node:tls';

const TLS_HANDSHAKE = 0x16;
/** A client that says nothing holds its connection no longer than this. */
const FIRST_BYTE_TIMEOUT_MS = 10_000;

/** Servers of one process that share their ports between HTTP and HTTPS, and their certificate. */
export type SharedPorts = {
  /** Makes a server that hands requests of both kinds to `handler`. Clients may show a certificate; none is required. */
  make(handler: http.RequestListener): http.Server;
  /** Sets certificate and trusted authorities for new connections. Until then TLS connections are closed at once. */
  setCertificate(options: Pick<SecureContextOptions, 'cert' | 'key' | 'ca'>): void;
};

/**
 * @param requestMsMax a client that sends its request very slowly holds its connection, and the received part of the body, no longer
 */
export function sharedPorts({ requestMsMax = REQUEST_MS_MAX } = {}): SharedPorts {
  const limits = {
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: requestMsMax,
    connectionsCheckingInterval: requestMsMax / 2,
  };
  const secures: https.Server[] = [];
  let context: SecureContextOptions | undefined;
  return {
    make(handler) {
      const server = http.createServer(limits, handler);
      const secure = https.createServer({ ...limits, ...TLS_OPTIONS, ...context }, handler);
      // Anything that is no request is answered in one way, over TLS too.
      secure.on('clientError', (error, socket) => void server.emit('clientError', error, socket));
      // It never listens: what its own listening would set up, the tracking of connections, is set up by this.
      secure.emit('listening');
      secures.push(secure);
      const silent = divide(server, (socket) => {
        if (context === undefined) socket.destroy();
        else secure.emit('connection', socket);
      });
      closeTogether(server, secure, silent);
      return server;
    },
    setCertificate(options) {
      context = { ...TLS_OPTIONS, ...options };
      for (const secure of secures) secure.setSecureContext(context);
    },
  };
}

/**
 * An idle connection of an agent outlives the longest pause between two heartbeats, and one of a proxy all that a proxy keeps one
 * for: a request that is sent over a connection which the server is just closing gets no answer.
 */
const KEEP_ALIVE_MS = 72_000;

const REQUEST_MS_MAX = 60_000;

const TLS_OPTIONS = {
  minVersion: 'TLSv1.3',
  requestCert: true,
  // Handlers say why a certificate is refused; the handshake would only fail.
  rejectUnauthorized: false,
  // Each connection proves its certificate anew: a resumed one would stand for earlier trust.
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const;

/** Connections that begin a TLS handshake go to `takeTls`, all others where they went before. */
function divide(server: http.Server, takeTls: (socket: net.Socket) => void): Set<net.Socket> {
  const silent = new Set<net.Socket>();
  const plain = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: net.Socket) => {
    silent.add(socket);
    firstByte(socket, (byte) => {
      silent.delete(socket);
      if (byte === undefined) socket.destroy();
      else if (byte === TLS_HANDSHAKE) takeTls(socket);
      else {
        for (const listener of plain) listener.call(server, socket);
        socket.resume();
      }
    });
  });
  return silent;
}

/** Waits for the first byte and leaves it where it is. `undefined`: none came in time, or the client is gone. */
function firstByte(socket: net.Socket, found: (byte: number | undefined) => void): void {
  const settle = (byte: number | undefined) => {
    clearTimeout(giveUp);
    socket.off('data', onData).off('end', onGone).off('close', onGone);
    found(byte);
    socket.off('error', onGone);
  };
  const onGone = () => settle(undefined);
  const onData = (chunk: Buffer) => {
    socket.pause();
    socket.unshift(chunk);
    settle(chunk[0]);
  };
  const giveUp = setTimeout(onGone, FIRST_BYTE_TIMEOUT_MS);
  socket.on('data', onData).on('end', onGone).on('close', onGone).on('error', onGone);
}

/** Connections that have said nothing yet are idle ones. */
function closeTogether(server: http.Server, secure: https.Server, silent: ReadonlySet<net.Socket>): void {
  for (const method of ['closeIdleConnections', 'closeAllConnections'] as const) {
    const closePlain = server[method].bind(server);
    server[method] = () => {
      closePlain();
      secure[method]();
      for (const socket of silent) socket.destroy();
    };
  }
  // Ends its timer; it has no listening socket to close.
  server.once('close', () => secure.close());
}
