// SPDX-License-Identifier: Apache-2.0
//
// Tests that C++17 programs can include every public header.
#include "gtest/gtest.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/executor_factory.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/packed_func.h"
#include "runtime_cpp/params.h"
#include "runtime_cpp/profile.h"
#include "runtime_cpp/registry.h"
#include "runtime_cpp/thread_pool.h"

static_assert(__cplusplus == 201703L);

TEST(Headers, CompileAsCxx17) { EXPECT_FALSE(kiln::runtime::Model::Load("no_such_file.so").ok()); }
