/* DLPack's exchange of tensors, as far as it is used (dmlc/dlpack, version 1.3). */
#ifndef BARACUDA_DLPACK_H
#define BARACUDA_DLPACK_H
#include <stdint.h>

typedef struct { int32_t type, id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} DLTensor;
typedef struct DLManagedTensorVersioned {
    struct { uint32_t major, minor; } version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;
typedef struct {
    struct { struct { uint32_t major, minor; } version; void *prev_api; } header;
    int (*managed_tensor_allocator)(DLTensor *, DLManagedTensorVersioned **, void *, void (*)(void *, const char *, const char *));
    int (*managed_tensor_from_py_object_no_sync)(void *, DLManagedTensorVersioned **);
    int (*managed_tensor_to_py_object_no_sync)(DLManagedTensorVersioned *, void **);
    int (*dltensor_from_py_object_no_sync)(void *, DLTensor *);
    int (*current_work_stream)(int32_t, int32_t, void **);
} DLPackExchangeAPI;
enum { DL_CPU = 1, DL_CUDA = 2, DL_COMPLEX = 5 };

#endif
