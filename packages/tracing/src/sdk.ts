/** OpenTelemetry's SDK with its exporter for OTLP over HTTP. Loaded only where tracing is on. */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';

/** @returns what sends the rest and ends it */
export function startSdk(
  service: string,
  environment: NodeJS.ProcessEnv,
  { follows }: { readonly follows: boolean },
): () => Promise<void> {
  const name = environment.OTEL_SERVICE_NAME || service;
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': name, 'process.pid': process.pid }),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  provider.register(follows ? {} : { contextManager: null });
  // A receiver that is gone costs spans, and nothing else.
  return () => provider.shutdown().catch(() => undefined);
}
