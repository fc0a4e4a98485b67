// Baseline of the API's benchmark: plain node:http in front of one INSERT with its own commit.
// Argument: the database's URL. Prints its port.
import http from 'node:http';
import { createPool } from '@holdfast/database/sql/pool.js';

const [url] = process.argv.slice(2);
if (url === undefined) throw new Error('name the database by its URL');
const pool = createPool(url, { connectionsMax: 10, applicationName: 'bench-baseline' });

const server = http.createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (body += chunk));
  request.on('end', async () => {
    await pool.query('INSERT INTO bench_insert (body) VALUES ($1)', [JSON.stringify(JSON.parse(body))]);
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': 2 }).end('{}');
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address !== 'string') console.log(address.port);
});
