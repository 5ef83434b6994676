// swift-tools-version:5.9

import PackageDescription

let package = Package(
    name: "mirror",
    products: [
        .library(name: "Mirror", targets: ["Mirror"]),
        .executable(name: "decode", targets: ["decode"]),
    ],
    targets: [
        .target(name: "Mirror"),
        .executableTarget(name: "decode", dependencies: ["Mirror"]),
        .testTarget(name: "MirrorTests", dependencies: ["Mirror"]),
    ]
)
