// `node healthcheck.mjs <url>`: exits 0 when the URL answers 2xx within two seconds. The image has no curl.
const [url] = process.argv.slice(2);
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
  process.exit(response.ok ? 0 : 1);
} catch {
  process.exit(1);
}
