/** What a file of a bundle holds, by its path. */

/** `archive`: a zip with the logs of one node. */
export type FileKind = 'objects' | 'log' | 'archive' | 'unread';

/** Folders of the kit: groups of the Kubernetes API. */
const KIT_FOLDER = /(?:^|\/)yamls\/(?:cluster|namespaced)\//;
/** Longhorn's own objects, and those of Kubernetes that a signature reads. */
const KIT_READ = new RegExp(
  [
    String.raw`\/longhorn\.io\/[^/]+\/[^/]+$`,
    String.raw`\/yamls\/cluster\/v1\/nodes\.ya?ml$`,
    String.raw`\/yamls\/cluster\/scheduling\.k8s\.io\/[^/]+\/priorityclasses\.ya?ml$`,
    String.raw`\/yamls\/namespaced\/[^/]+\/monitoring\.coreos\.com\/[^/]+\/prometheusrules\.ya?ml$`,
    String.raw`\/yamls\/namespaced\/[^/]*longhorn[^/]*\/v1\/(?:pods|events)\.ya?ml$`,
    String.raw`\/yamls\/namespaced\/[^/]+\/v1\/persistentvolumeclaims\.ya?ml$`,
  ].join('|'),
);
/** Of Longhorn's own bundles up to 1.3. */
const OLD_KUBERNETES = /(?:^|\/)yamls\/kubernetes\/(?!(?:nodes|pods|events)\.)/;
/** Metadata of a bundle, beside its folder `yamls`. */
const OF_BUNDLE = /(?:^|\/)metadata\.ya?ml$|prometheus-alerts\.json$/;
const OBJECTS = /\.(?:ya?ml|json)$/i;

const LOG = /(?:^|\/)logs\/.*\.log(?:\.\d+)?$/;
/** Pods whose logs a signature reads. */
const LOG_READ = /longhorn|instance-manager|engine-image|backing-image|share-manager|csi-|etcd/;
/** Of one node: of the kernel and of the kubelet. */
const NODE_LOG = /(?:^|\/)logs\/(?:dmesg|syslog|messages|kubelet|k3s)[^/]*$/;
const NODE_ARCHIVE = /(?:^|\/)nodes\/[^/]+\.zip$/;

export function kindOf(path: string): FileKind {
  const name = path.replaceAll('\\', '/');
  if (NODE_ARCHIVE.test(name)) return 'archive';
  if (NODE_LOG.test(name)) return 'log';
  if (LOG.test(name)) return LOG_READ.test(name.slice(name.lastIndexOf('/logs/') + 1)) ? 'log' : 'unread';
  if (!OBJECTS.test(name) || OF_BUNDLE.test(name)) return 'unread';
  if (KIT_FOLDER.test(name)) return KIT_READ.test(name) ? 'objects' : 'unread';
  return OLD_KUBERNETES.test(name) ? 'unread' : 'objects';
}
