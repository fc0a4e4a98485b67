/**
 * Longhorn's settings in the areas that Holdfast covers which do not apply here, with the reason. An operator who looks for
 * one finds the answer instead of an unknown name.
 */
export const NOT_APPLICABLE: Readonly<Record<string, string>> = {
  'allow-recurring-job-while-volume-detached':
    'a detached volume has no new data, so a due snapshot of it would equal the last one; it is skipped, and says so once',
  'auto-cleanup-recurring-job-backup-snapshot': 'there are no backups',
  'auto-cleanup-snapshot-after-on-demand-backup-completed': 'there are no backups',
  'auto-cleanup-when-delete-backup': 'there are no backups',
  'auto-delete-pod-when-volume-detached-unexpectedly':
    'there are no pods: clients connect over NBD and connect again',
  'auto-salvage':
    'an attach goes on without a user as long as at least half of the last members are there; with fewer, acknowledged writes may be lost, so a user names the copies',
  'blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly': 'there are no pods',
  'concurrent-automatic-engine-upgrade-per-node-limit':
    'an engine is upgraded with its agent, by a restart of the node it runs on',
  'concurrent-backing-image-replenish-per-node-limit': 'there are no backing images',
  'concurrent-volume-backup-restore-per-node-limit': 'there are no backups',
  'create-default-disk-labeled-nodes': "an agent's disks are named when it is started",
  'csi-allowed-topology-keys': 'there is no CSI driver',
  'csi-storage-capacity-tracking': 'there is no CSI driver',
  'default-data-path': "an agent's disks are named when it is started",
  'disable-revision-counter': 'which copy is current is told by the records on the copies, not by a counter',
  'freeze-filesystem-for-snapshot':
    'the engine serves blocks over NBD and does not see the file system; its user freezes it around the snapshot',
  'instance-manager-pod-liveness-probe-timeout':
    'there are no pods; `agent-heartbeat-timeout` judges an agent',
  'kubernetes-cluster-autoscaler-enabled': 'there are no pods that would keep a node from being removed',
  'long-grpc-timeout': 'a rebuild ends when it makes no progress, not when a time is over',
  'node-disk-health-monitoring': 'a disk is judged by its reads and writes, not by SMART',
  'node-down-pod-deletion-policy': 'there are no pods; a volume may fail over by its own policy',
  'remove-snapshots-during-filesystem-trim':
    'a trim frees blocks of the head; what a snapshot holds stays until the snapshot is deleted',
  'replica-file-sync-http-client-timeout': 'copies are synced over NBD, and a silent source is left at once',
  'restore-concurrent-limit': 'there are no backups',
  'rwx-volume-fast-failover': 'a volume has one writer, so there is no share to fail over',
  'storage-reserved-percentage-for-default-disk':
    'no disk is made unasked; what is reserved on one is a field of the disk',
};
