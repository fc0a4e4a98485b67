// Health check of the image, which has no curl: `node healthcheck.mjs <url>` exits 0 on a 2xx within eight seconds, which a busy
// machine may need.
const [url] = process.argv.slice(2);
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(8_000) });
  process.exit(response.ok ? 0 : 1);
} catch {
  process.exit(1);
}
